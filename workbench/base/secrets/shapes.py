"""Secrets recognized by their shape: the prefix and length that an issuer documents.

Public lists of patterns agree on these shapes. Names in code do not match: each shape is longer than a name, or needs a
digit.
"""

from __future__ import annotations

import re

_SIGNS = {
    "<an>": "[A-Za-z0-9]",
    "<url>": "[A-Za-z0-9_-]",
    "<b64>": "[A-Za-z0-9+/]",
    "<hex>": "[0-9a-fA-F]",
    "<uuid>": "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
    "<digit>": r"(?=[A-Za-z_-]{0,40}\d|[A-Za-z]{0,9}[A-Z]{2}[a-z]|[A-Za-z]{0,9}[a-z][A-Z])",  # or letters of both cases
}

_SHAPES = r"""
    # Models
    sk-(?:ant|proj|or|svcacct|admin|lf|test|live)-<url>{8,} sk-<digit><an>{16,} AIza<url>{30,} hf_<digit><an>{20,}
    hf_[A-Za-z]{34}(?![A-Za-z0-9_]) api_org_<an>{30,} gsk_<an>{30,} r8_<an>{30,} xai-<an>{30,} pplx-<an>{30,}
    lsv2_(?:pt|sk)_<hex>{32}_<hex>{10} tvly-<digit>[A-Za-z0-9-]{20,} nvapi-<digit><url>{40,} fw_<digit><an>{20,}
    jina_<digit><an>{30,}
    # Hosts of code and packages
    gh[pousr]_<an>{20,} github_pat_[A-Za-z0-9_]{20,}
    gl(?:pat|dt|rt|rtr|wt|ptt|ft|oas|agent|cbt|soat|imt|ffct)-(?:t\d_)?<digit><url>{16,}(?:\.[0-9A-Za-z]{2,}){0,3}
    GR1348941<url>{20} npm_<an>{30,} pypi-AgE<url>{30,} rubygems_<hex>{40,} cio<digit><an>{32} oy2[a-z0-9]{43}
    CLOJARS_[0-9a-z]{60} dckr_(?:pat|oat)_<url>{20,} ATBB<an>{28,} AT[AC]TT3<url>{60,}(?:=[0-9A-F]{0,8})?
    AKCp<an>{60,} cmVmd<an>{50,} sq[upa]_<hex>{40} CCIPAT_<an>{15,}_<hex>{40} bk(?:ua|aa|ct)_<an>{30,}
    pul-<hex>{40} lin_(?:api|oauth)_<an>{30,} ntn_\d{11}<an>{30,} secret_<digit><an>{43} figd_<digit><url>{36,}
    PMAK-<hex>{24}-<hex>{34} PMAT-[A-Z0-9]{26} sntrys_eyJ<b64>{20,}={0,2}_<b64>{30,} sntryu_<hex>{64}
    sgp_<an>{16,}(?:_<hex>{40})?
    # Clouds and what runs there
    A(?:KIA|SIA|BIA|CCA|3T[A-Z0-9])(?![A-Z0-9]{9}EXAMPLE)[A-Z0-9]{16}(?![A-Za-z0-9]) ABSK<b64>{100,}={0,2}
    ya29\.<url>{20,} GOCSPX-<url>{20,} 1//0<url>{30,} LTAI<digit><an>{16,} do[opr]_v1_<hex>{30,} HRKU-<digit><url>{34,}
    nfp_<an>{30,} fo1_<url>{40,} fm[12][ar]?_<b64>{80,}={0,2} v1\.0-<hex>{24}-<hex>{146} dapi<hex>{32}(?:-\d)?
    NR(?:AK|JS|II|IQ|AA)-<digit>[A-Za-z0-9_-]{19,} gl(?:sa|c)_<digit><b64>{30,}(?:_<hex>{8})?={0,2}
    sbp_(?:v\d_)?<hex>{40}
    pscale_(?:tkn|oauth|pw)_[A-Za-z0-9_.=-]{30,} hv[sbr]\.<digit><url>{20,} s\.<digit><an>{24}(?![A-Za-z0-9])
    dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?<an>{40,} sha256~<url>{43}
    dt0[a-z]\d\d\.<an>{24}\.<an>{60,} ops_eyJ<b64>{80,}={0,3} A3-[A-Z0-9]{6}-[A-Z0-9-]{20,} tk-us-<url>{40,}
    pnu_<an>{36} rnd_<digit><an>{28,} bedrock-api-key-<b64>{20,} 4b1d<digit><an>{38}(?![A-Za-z0-9])
    API-<digit>[A-Z0-9]{26} ico-<digit><an>{32} [ps]at\.<url>{22}\.<an>{24}\.<an>{20} s-s4t2(?:ud|af)-<hex>{64}
    sm_[aps]at_<digit><an>{16} sc_<an>{5,30}\.<an>{4,6}\.acc[_-][a-z0-9-]{10,}\.[A-Za-z0-9+/_=-]{30,}
    sk\.eyJ<url>{20,}\.<url>{10,} p8e-<digit><an>{32} fio-u-<digit>[A-Za-z0-9=_-]{60,}
    (?:sdk|mob)-<uuid> <an>{52}JQQJ9<an>{25,30}(?!<an>) sk_<hex>{48}(?!<an>) odt_<an>{32,} mdb_sa_sk_<url>{30,}
    SWMKEY-1-<url>{40,} vc[pisar]_<digit><an>{40,} llx-<digit><url>{30,} tgp_v1_<url>{30,} dnkey-[A-Z0-9-]{40,}
    # Chat, mail, payment
    xox[abeprsd]-(?=[A-Za-z-]{0,40}\d)[A-Za-z0-9%-]{10,} xoxo-\d+-\d+-[0-9a-z-]{10,}
    xapp-\d-[A-Z0-9]+-\d+-[a-z0-9]+ xoxe\.xox[bp]-\d-[A-Z0-9]{60,} [MNO][A-Za-z0-9_-]{23,27}\.<url>{6}\.<url>{27,}
    \d{8,10}:AA<url>{32,} bot\d{8,10}:AA<url>{32,} SG\.<url>{16,}\.<url>{16,} key-<hex>{32}
    xkeysib-<hex>{60,}-<an>{16} re_<digit><an>{8}_<an>{20,} SK<hex>{32} sk_(?:live|test|prod)_<an>{10,}
    rk_(?:live|test|prod)_<an>{10,} whsec_<b64>{24,}=* EAAA<digit><url>{50,}
    sq0[a-z]{3}-<url>{20,} shp(?:at|ca|pa|ss|tka)_[0-9a-fA-F]{32} EAAC[A-Za-z0-9]{60,} EAAM[A-Za-z0-9]{60,}
    \d{15,16}\|<url>{27,40} access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}
    access-(?:sandbox|development|production)-<uuid> pat-(?:na|eu)\d-<uuid> pat<an>{14}\.<hex>{64}
    2/\d{16}/\d{16}:<hex>{32} sl\.<digit><url>{100,} FLW(?:SECK|PUBK)(?:_TEST)?-<an>{12,}(?:-X)?
    duffel_(?:test|live)_<url>{40,} EZ[AT]K<an>{54} shippo_(?:live|test)_<hex>{40} rdme_[a-z0-9]{60,}
    tfp_<digit>[A-Za-z0-9_.=-]{50,} AGE-SECRET-KEY-1[A-Z0-9]{50,}
    # More that Trufflehog knows
    tskey-[a-z]{3,12}-<an>{8,}-<an>{16,} SWMTKN-1-[0-9a-z]{40,}-[0-9a-z]{20,} pcsk_<an>{5,6}_<an>{40,}
    cf[ukaot]{1,2}_<digit><an>{47,} fig[ou]r?h?_<digit><url>{36,} dd[pw]_<digit><an>{30,} apify_api_<an>{30,}
    CFPAT-<url>{40,} BBDC-<digit><b64>{36,} ph[xsra]_<digit><url>{40,} rootly_<hex>{64} slk_<hex>{64} sqco_<an>{50,}
    ramp_sec_<an>{40,} rzp_live_<digit><an>{12,} salad_cloud_<an>{1,7}_<digit><an>{20,}
    NRBR-<hex>{19} rh-api-<uuid>
    sk-lf-<uuid> pi_<an>{24}_secret_<an>{20,} 00D<an>{12}![A-Za-z0-9_.]{80,} xoxe-\d-[A-Z0-9]{100,}
    (?:AA<hex>{40}|eu01xx<hex>{36})-NRMA <hex>{36}NRAL eu01x[x0-9a-f]<hex>{30}NRAL
    live_\d{6,12}_<an>{30} flb_live_<digit><an>{16,} VF\.(?:(?:DM|WS)\.)?<hex>{24}\.<an>{16}
    # Web tokens; hashed passwords, as systems keep them
    (?<![\w-])eyJ<url>{10,}+\.<url>{10,}+\.<url>{5,} eyJrIjoi<an>{60,}+={0,3}
    (?<![\w$])\$(?:1|6|5|8|9|y|2[aby]|apr1)\$[./A-Za-z0-9$=]{20,} (?<![\w$])\$krb5(?:asrep|tgs|pa)\$\d\d?\$[^\s"']{40,}
    LS0tLS1CRUdJTi(?:BSU0EgUFJJV|BQUklWQVRF|BFQyBQUklWQVRF|BPUEVOU1NI|BFTkNSWVBURUQg)<b64>{20,}={0,2}
    (?<![\w$])\$argon2(?:id|i|d)\$[+./A-Za-z0-9$=,]{60,}
"""


def _by_first_sign(shapes: list[str]) -> str:
    """Return one pattern for all shapes, grouped by their first character for speed."""
    several: dict[str, list[str]] = {}
    for shape in shapes:
        several.setdefault(shape[0] if shape[0].isalnum() else "", []).append(shape)
    rest = several.pop("", [])
    return "|".join([f"{sign}(?:{'|'.join(shape[1:] for shape in of)})" for sign, of in several.items()] + rest)


def _compiled(shape: str) -> re.Pattern[str]:
    for name, signs in _SIGNS.items():
        shape = shape.replace(name, signs)
    return re.compile(shape)


_LINES = (line for line in _SHAPES.splitlines() if not line.lstrip().startswith("#"))
_SHORTEST = "(?=[A-Za-z0-9_$|:/+=%~.-]{15})"
"""Lookahead that fails for short words, so that no shape is tried there."""
_AFTER = r"(?:(?<![A-Za-z0-9])|(?<=\[\dm)|(?<=\[\d\dm))"
"""Lookbehind that fails after a letter or digit, except after the code of a terminal color."""
TOKEN = _compiled(f"{_AFTER}{_SHORTEST}(?:{_by_first_sign(' '.join(_LINES).split())})")

MARKED = (
    (3, _compiled(r"Q~(?<=[A-Za-z0-9_~.-]{2}\dQ~)[A-Za-z0-9_~.-]{31,34}")),
    (14, _compiled(r"\.atlasv1\.(?<=<an>{14}\.atlasv1\.)[A-Za-z0-9_=-]{50,}")),
    (32, _compiled(r"-us(?<=<hex>{32}-us)\d{1,2}(?!\d)")),
    (36, _compiled(r"_mmk(?<=<an>{6}_<an>{29}_mmk)")),
)
"""Shapes with a fixed mark in the middle: number of characters before the mark, and the pattern from the mark on."""
