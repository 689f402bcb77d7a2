"""Mutants of `fetch`."""

from __future__ import annotations

from mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "no limit on what is unpacked",
        "a small answer that unpacks into a huge one is stopped early (H3)",
        "fetch/http/decode.py",
        (("            self._check_ratio(stage.produced_bytes)\n", ""),),
        "fetch/test_decode.py -k 'bomb_is_stopped and gzip'",
    ),
    Mutant(
        "a browser connected to any address",
        "no script, frame or redirect of a page reaches into your network by way of the browser (SEC-06)",
        "fetch/browser/gate.py",
        (("                sentence = refusal\n                continue\n", "                sentence = refusal\n"),),
        "fetch/test_browser.py -k 'no_page_reaches'",
    ),
    Mutant(
        "a browser that reaches this computer directly",
        "every connection of the browser passes the address check, those to this computer too (SEC-06)",
        "fetch/browser/process.py",
        (('    "--proxy-bypass-list=<-loopback>",  # not even this computer is reached without the gate\n', ""),),
        "fetch/test_browser.py -k 'no_page_reaches'",
    ),
    Mutant(
        "datagrams past the gate",
        "a page cannot send datagrams by WebRTC to addresses that nobody checks (SEC-06)",
        "fetch/browser/process.py",
        (
            ('    "--webrtc-ip-handling-policy=disable_non_proxied_udp",\n', ""),
            (
                '    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # in the headless shell\n',
                "",
            ),
        ),
        "fetch/test_browser.py -k 'no_page_reaches'",
    ),
    Mutant(
        "pages that open windows",
        "a page rendered by the browser opens no window and loads no image",
        "fetch/browser/render.py",
        (
            (
                '        headers.append(("content-security-policy", CONFINED',
                '        headers.append(("x-policy", CONFINED',
            ),
        ),
        "fetch/test_browser.py -k 'what_its_scripts_make'",
    ),
    Mutant(
        "a page that is kept goes to others",
        "a page that a recipe keeps is nobody else's (DOC-17)",
        "fetch/browser/pool.py",
        (("if tab.name == name]", "]"),),
        "fetch/test_browser.py -k 'page_with_a_name'",
    ),
    Mutant(
        "a browser that keeps dying is started again at once",
        "a browser that keeps dying is started again ever more slowly (DOC-17)",
        "fetch/browser/pool.py",
        (("            self._failures += 1\n            self._retire(before)", "            self._retire(before)"),),
        "fetch/test_browser.py -k 'ever_more_slowly'",
    ),
    Mutant(
        "a page in the browser takes all memory",
        "a page that takes too much memory in the browser costs that page and nothing else (SEC-07)",
        "fetch/browser/process.py",
        (("            _kill(killed.pid, group=killed.pid == self.pid)\n", ""),),
        "fetch/test_browser.py -k 'too_much_memory'",
        hangs=True,
    ),
    Mutant(
        "a page too large for the browser is tried again and again",
        "a page that takes too much memory in the browser is asked for once (SEC-07)",
        "fetch/browser/pool.py",
        (("                if tab.was_too_large:\n", "                if tab.was_too_large and False:\n"),),
        "fetch/test_browser.py -k 'ended_for_its_memory'",
    ),
    Mutant(
        "a page lost with its browser",
        "a browser that dies costs no page and no attempt (DOC-17)",
        "fetch/browser/fetcher.py",
        (("TRIES = 3  # of one page", "TRIES = 1  # of one page"),),
        "fetch/test_browser.py -k 'killed_under_its_pages'",
    ),
    Mutant(
        "documents of a page worked by hand not asked about",
        "a click or a redirect in the browser obeys robots.txt and waits for its turn (DOC-16)",
        "fetch/browser/session.py",
        (('            await self._admit(event["request"]["url"])\n', "            pass\n"),),
        "fetch/test_browser.py -k 'admitted_first'",
    ),
    Mutant(
        "zstd unpacked in one go",
        "no more than a step is unpacked before it is counted (H3)",
        "fetch/http/unpackers.py",
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
        "fetch/http/unpackers.py",
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
        "fetch/http/fetcher.py",
        (("        address = await names.checked(host, port)\n", "        address = host\n"),),
        "fetch/test_routes.py -k 'not_public_sec_06'",
    ),
    Mutant(
        "secrets for every host",
        "a header with a secret goes only to the origins that the job was given (H5)",
        "fetch/http/secrets.py",
        (("return self._headers if origin in self.origins else ()", "return self._headers"),),
        "fetch/test_routes.py -k 'nowhere_else_h5'",
    ),
    Mutant(
        "a header becomes two",
        "no line break gets into a request (H6)",
        "fetch/http/headers.py",
        ((" or not _HEADER_VALUE.fullmatch(value)", ""),),
        "fetch/test_http.py -k 'would_become_two'",
    ),
    Mutant(
        "empty frames not counted",
        "a body of empty members or frames, which unpacks into nothing, ends early (SEC-07)",
        "fetch/http/decode.py",
        (("            self._members_left -= 1\n", ""),),
        "fetch/test_attacks.py -k 'keeps_the_event_loop'",
    ),
    Mutant(
        "decoding without a pause",
        "no body keeps the event loop for long, and a deadline holds while it is unpacked (SEC-07)",
        "fetch/http/exchange.py",
        (("if self._clock.monotonic_ms() >= until_ms or not", "if not"),),
        "fetch/test_attacks.py -k 'slice_at_a_time'",
    ),
    Mutant(
        "any number of bodies in memory",
        "answers that one process holds are bounded, however many large ones come at once (SEC-07)",
        "fetch/http/exchange.py",
        (
            (
                "if self._steps is not None or not self._in_flight.admits(self):",
                "if self._steps is not None:",
            ),
        ),
        "fetch/test_attacks.py -k 'fill_the_memory'",
    ),
    Mutant(
        "what is held elsewhere not counted",
        "a body that waits for its commit counts as held (SEC-07)",
        "fetch/http/in_flight.py",
        (("        self._used += held - self._given\n", ""),),
        "fetch/test_attacks.py -k 'until_it_is_let_go'",
    ),
    Mutant(
        "a link-local address let through",
        "whatever is allowed, no address that hands out a machine's credentials is connected to (SEC-06)",
        "fetch/guard.py",
        (('        "169.254.0.0/16",  # AWS', '        "169.254.169.254/32",  # AWS'),),
        "fetch/test_guard.py -k 'never_let_through'",
    ),
    Mutant(
        "cookies without a limit",
        "a site that sets ever new cookies costs no more for each page (SEC-07)",
        "fetch/cookies.py",
        (("        if len(kept) < len(lines):\n", "        if not lines:\n"),),
        "fetch/test_attacks.py -k 'new_cookies'",
    ),
    Mutant(
        "certificates of one's own not trusted",
        "a company's own authority is trusted where its certificate is given",
        "fetch/http/route.py",
        (("        if all_roots := self._blob(roots):  # libcurl", '        if all_roots := b"":  # libcurl'),),
        "cli/test_ca_bundle.py -k 'signed_by_the_authority'",
    ),
    Mutant(
        "descriptors that ran out are the site's fault",
        "no page is failed because this process had no descriptors for it (D5)",
        "fetch/http/exchange.py",
        (("        if code in _PERHAPS_OURS and ", "        if not code and "),),
        "fetch/test_http.py -k 'run_out_on_the_way'",
    ),
    Mutant(
        "a line without a colon fails the page",
        "a page is not lost for a header line that browsers skip",
        "fetch/http/exchange.py",
        (("        if code == pycurl.E_FTP_WEIRD_SERVER_REPLY and message", "        if not code and message"),),
        "fetch/test_lenient.py -k 'without_a_colon_is_read and sized'",
    ),
    Mutant(
        "the second reader goes anywhere",
        "what is asked for once more is asked for at no address that the guard refuses (SEC-06)",
        "fetch/lenient.py",
        (("            if refused is not None:\n", "            if not address:\n"),),
        "fetch/test_lenient.py -k 'private_address'",
    ),
    Mutant(
        "a posted request on a used connection",
        "a request with a body is sent once: libcurl does not repeat it by itself",
        "fetch/http/exchange.py",
        (
            ("        setopt(pycurl.FRESH_CONNECT, int(request is not None))\n", ""),
            ("        setopt(pycurl.FORBID_REUSE, int(request is not None))\n", ""),
        ),
        "engine/test_files.py -k 'sent_once'",
    ),
    Mutant(
        "an encoded file is stored as it comes",
        "a stored file has the bytes of the file and not those of its encoding (PER-15)",
        "fetch/http/download.py",
        (("            if self._encoding and 200 <= status < 300:", "            if False:"),),
        "engine/test_files.py -k 'encoded'",
    ),
    Mutant(
        "chunks left in a page of an archive",
        "a page of a WARC file is what its site sent, however the file stores it (DOC-28)",
        "fetch/archive/answers.py",
        (("        raw = _without_chunks(raw, budget)\n", "        pass\n"),),
        "fetch/test_archive.py -k 'however_it_is_stored'",
    ),
    Mutant(
        "an exchange that is not recorded",
        "a job that records can be had again without its sites: no exchange is left out (DOC-28)",
        "fetch/recording.py",
        (
            (
                "        return await self._kept(request, response, in_file=False)\n",
                "        return response\n",
            ),
        ),
        "cli/test_from_warc.py -k 'recording_has_every_exchange'",
    ),
    Mutant(
        "any certificate will do",
        "TLS is verified, for every try (engines world, line 11)",
        "fetch/http/route.py",
        (("curl.setopt(pycurl.SSL_VERIFYPEER, 1)", "curl.setopt(pycurl.SSL_VERIFYPEER, 0)"),),
        "fetch/test_answers.py -k tls_is_verified",
    ),
    Mutant(
        "a second try takes any certificate",
        "TLS is verified where an answer is asked for again, too (engines world, line 11)",
        "fetch/http/route.py",
        (
            (
                "        context.verify_flags |=",
                "        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE\n"
                "        context.verify_flags |=",
            ),
        ),
        "fetch/test_lenient.py -k tls_is_verified",
    ),
    Mutant(
        "as many members as a body likes",
        "the number of members or frames of a body has a bound (SEC-07)",
        "model/exchange.py",
        (("        return max(4_000, self.body_bytes_max // 16_384)\n", "        return self.body_bytes_max\n"),),
        "fetch/test_attacks.py -k 'keeps_the_event_loop'",
    ),
    Mutant(
        "no member more for a large body",
        "an honest body of many members is not taken for an attack",
        "model/exchange.py",
        (("        return max(4_000, self.body_bytes_max // 16_384)\n", "        return 4_000\n"),),
        "fetch/test_decode.py -k 'as_many_members_more'",
    ),
    Mutant(
        "headers that are too large are the network's fault",
        "headers that are too large or too many end with one code",
        "fetch/http/exchange.py",
        (('"bad_response" if message.startswith(TOO_LARGE_HEADERS) else ', ""),),
        "fetch/test_answers.py -k 'bad_answer and large-headers'",
    ),
    Mutant(
        "a full budget lets nothing in",
        "a step that holds one large answer and asks for another gets it (SEC-07)",
        "fetch/http/in_flight.py",
        (
            (
                "        return not self._commits and next(iter(self._received), body) is body\n",
                "        return False\n",
            ),
        ),
        "fetch/test_attacks.py -k 'asks_for_more'",
        hangs=True,
    ),
)
