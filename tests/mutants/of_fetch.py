"""Mutants of `fetch`."""

from __future__ import annotations

from mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "no limit on what is unpacked",
        "a small answer that unpacks into a huge one is stopped early (H3)",
        "fetch/decode.py",
        (("            self._check_ratio(stage.produced_bytes)\n", ""),),
        "fetch/test_decode.py -k 'bomb_is_stopped and gzip'",
    ),
    Mutant(
        "zstd unpacked in one go",
        "no more than a step is unpacked before it is counted (H3)",
        "fetch/unpackers.py",
        (
            (
                "unpacked = self._stream.decompress(piece, STEP_BYTES)\n            except self._error",
                "unpacked = self._stream.decompress(piece)\n            except self._error",
            ),
        ),
        "fetch/test_decode.py -k 'bomb_is_stopped and zstd'",
    ),
    Mutant(
        "zstd window as the site likes",
        "a site cannot make the crawler reserve memory (RFC 9659)",
        "fetch/unpackers.py",
        (
            (
                "zstd.ZstdDecompressor(options=limit)",
                "zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: 31})",
            ),
        ),
        "fetch/test_decode.py -k 'more_memory'",
    ),
    Mutant(
        "a proxy asked for any address",
        "a crawled site cannot reach into your network by way of a proxy (SEC-06)",
        "fetch/http.py",
        (("        address = await names.checked(host, port)\n", "        address = host\n"),),
        "fetch/test_routes.py -k 'not_public_sec_06'",
    ),
    Mutant(
        "secrets for every host",
        "a header with a secret goes only to the origins that the job was given (H5)",
        "fetch/secrets.py",
        (("return self._headers if origin in self._origins else ()", "return self._headers"),),
        "fetch/test_routes.py -k 'nowhere_else_h5'",
    ),
    Mutant(
        "a header becomes two",
        "no line break gets into a request (H6)",
        "fetch/headers.py",
        ((" or not _HEADER_VALUE.fullmatch(value)", ""),),
        "fetch/test_http.py -k 'would_become_two'",
    ),
    Mutant(
        "descriptors that ran out are the site's fault",
        "no page is failed because this process had no descriptors for it (D5)",
        "fetch/exchange.py",
        (("        if code in _PERHAPS_OURS and ", "        if not code and "),),
        "fetch/test_http.py -k 'run_out_on_the_way'",
    ),
)
