"""Mutants of `recipes`."""

from __future__ import annotations

from mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "yields before a raise are kept",
        "a step of a recipe that raises leaves nothing of what it yielded",
        "recipes/custom/step.py",
        (
            (
                "            raise pages.stopped from error\n"
                '        return Failed("recipe_error", pages.not_awaited() or sentence(error))\n',
                "            raise pages.stopped from error\n",
            ),
        ),
        "recipes/test_custom.py -k leaves_nothing_of_them",
    ),
    Mutant(
        "a step swallows its lost lease",
        "a step that catches everything cannot settle a target that its worker has lost",
        "recipes/custom/step.py",
        (("    if pages.stopped is not None:\n        raise pages.stopped\n    if", "    if"),),
        "recipes/test_custom.py -k cannot_swallow",
    ),
    Mutant(
        "an answer of any status is a page",
        "a step never takes a 503 for a page without links",
        "recipes/custom/fetching.py",
        (("        self._judge(response, frozenset(accept))\n", ""),),
        "recipes/test_custom.py -k ends_the_attempt",
    ),
    Mutant(
        "depth limit without levels",
        "a page within the depth limit is fetched whichever way to it answers first (FRO-04)",
        "recipes/site/recipe.py",
        (('        return params.get("max_depth") is not None\n', "        return False\n"),),
        "engine/test_session.py -k 'depth_limit'",
    ),
    Mutant(
        "indexes without end",
        "a sitemap index that names indexes for ever is not followed (H11)",
        "recipes/site/sitemap.py",
        (("    if listed.is_index and here.hops >= LEVELS_MAX:\n", "    if here.hops < 0:\n"),),
        "cli/test_sitemaps.py -k 'deep_indexes'",
    ),
    Mutant(
        "a redirect into your network is any redirect",
        "a page that redirects to a private address is failed and says so (FRO-09)",
        "recipes/site/step.py",
        (("    if refusal is not None:\n", "    if refusal == 0:\n"),),
        "web/test_hostile_web.py -k 'to-a-loopback-address'",
    ),
    Mutant(
        "304 replaces the body",
        "a page that has not changed is served with the bytes that it had",
        "recipes/site/step.py",
        (
            (
                "        return Done(UNCHANGED, status_code=response.status)\n",
                '        again = (Record("page", here.before),)\n'
                "        body = kept_body(here, response, clock.wall_ms())\n"
                '        return Done("page", body=body, records=again, status_code=response.status)\n',
            ),
        ),
        "cli/test_only_new.py -k 'every_answer_is_304'",
    ),
    Mutant(
        "a 304 that nobody asked for",
        "a page is not called unchanged that nobody has",
        "recipes/site/step.py",
        (("    if asking and response.status == NOT_MODIFIED:", "    if response.status == NOT_MODIFIED:"),),
        "recipes/test_site_step.py -k 'nobody_asked_for'",
    ),
    Mutant(
        "versions sent in any form",
        "no stored word becomes another header, or asks for any page at all",
        "recipes/site/validators.py",
        (
            (
                "for name, value, form in pairs if value and form.fullmatch(value))",
                "for name, value, _ in pairs if value)",
            ),
        ),
        "recipes/test_site_step.py -k 'neither_kept_nor_sent'",
    ),
    Mutant(
        "spaces tried in every two parts",
        "an answer's headers are read in linear time (H11)",
        "recipes/site/charset.py",
        ((r"""r"charset\s*+=\s*+[\"']?\s*+(""", r"""r"charset\s*+=\s*[\"']?\s*("""),),
        "recipes/test_site_charset.py -k header_takes_linear",
    ),
    Mutant(
        "a long list is read on the event loop",
        "no list holds up what else is in hand (SEC-07)",
        "recipes/site/sitemap.py",
        (("await asyncio.to_thread(read)", "read()"),),
        "recipes/test_site_step.py -k 'beside_the_loop'",
    ),
    Mutant(
        "a list taken in part is told as a whole one",
        "what is left out of a list is counted and told (FRO-15)",
        "recipes/site/sitemap.py",
        (("        IN_PART if left_out else SITEMAP,\n", "        SITEMAP,\n"),),
        "recipes/test_site_step.py -k 'is_not_taken_is_counted'",
    ),
    Mutant(
        "text lost with its process",
        "a process that derives texts and dies costs no text",
        "recipes/site/text_process.py",
        (("except (OSError, EOFError, msgspec.DecodeError):", "except msgspec.DecodeError:"),),
        "recipes/test_site_text_process.py -k 'dies'",
    ),
    Mutant(
        "a refresh is not followed",
        "a site behind a refresh is found (FRO-13)",
        "recipes/site/following.py",
        (("        if there is not None and there.url != own.url:", "        if False:"),),
        "recipes/test_site_step.py -k 'redirect_that_keeps'",
    ),
    Mutant(
        "refreshes without end",
        "a chain of refreshes is bounded as redirects are (FRO-13)",
        "recipes/site/following.py",
        (("    if here.hops >= REDIRECTS_MAX:", "    if False:"),),
        "recipes/test_site_step.py -k 'refreshes_ends'",
    ),
    Mutant(
        "a dead end is not marked",
        "a crawl that got no further than its start page is not called good (FRO-13)",
        "recipes/site/step.py",
        (("    if here.depth == 0 and read.is_html:", "    if False:"),),
        "recipes/test_site_step.py -k 'leads_nowhere'",
    ),
    Mutant(
        "nofollow is not obeyed",
        "what a page asks of crawlers is obeyed, counted and told",
        "recipes/site/following.py",
        (("    if asked.nofollow:", "    if False:"),),
        "recipes/test_site_step.py -k 'asks_so'",
    ),
    Mutant(
        "queries always in UTF-8",
        "a link leads where a browser would go (FRO-14)",
        "recipes/site/queries.py",
        (("    if codec in _OF_UNICODE:", "    if True:"),),
        "recipes/test_site_step.py -k 'charset_of_its_page'",
    ),
    Mutant(
        "code on one line",
        "text of exports keeps the lines of code",
        "recipes/site/text.py",
        (("        elif name in KEPT:", "        elif False:"),),
        "recipes/test_site_text.py -k 'reader_would_see'",
    ),
    Mutant(
        "a list that ends early is taken at once",
        "a list of URLs that ends too early is asked for again while attempts are left (FRO-15)",
        "recipes/site/sitemap.py",
        ((" and here.attempts < site.context.max_attempts:\n", " and False:\n"),),
        "recipes/test_site_step.py -k 'ends_early'",
    ),
)
