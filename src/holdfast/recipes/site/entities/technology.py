"""Technologies, by fingerprints of our own: generator tags, addresses of scripts, paths in the markup, and names that
a page says it works with. The public fingerprint collections are under the GPL and were not looked at."""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.recipes.site.entities.mention import Mention
from holdfast.recipes.site.entities.source import Source

SCRIPTS: dict[str, str] = {
    "googletagmanager.com/gtag": "Google Analytics",
    "googletagmanager.com/gtm": "Google Tag Manager", "google-analytics.com": "Google Analytics",
    "js.stripe.com": "Stripe", "plausible.io": "Plausible", "matomo": "Matomo", "cdn.segment.com": "Segment",
    "js.hs-scripts.com": "HubSpot", "hs-analytics": "HubSpot", "widget.intercom.io": "Intercom",
    "static.hotjar.com": "Hotjar", "cdn.shopify.com": "Shopify", "static1.squarespace.com": "Squarespace",
    "static.wixstatic.com": "Wix", "assets.website-files.com": "Webflow", "zdassets.com": "Zendesk",
    "cdn.jsdelivr.net": "jsDelivr", "cdnjs.cloudflare.com": "cdnjs", "unpkg.com": "unpkg",
    "fonts.googleapis.com": "Google Fonts", "use.typekit.net": "Adobe Fonts", "js.sentry-cdn.com": "Sentry",
    "challenges.cloudflare.com": "Cloudflare Turnstile", "recaptcha": "reCAPTCHA", "cdn.auth0.com": "Auth0",
    "js.chargebee.com": "Chargebee", "paypal.com/sdk": "PayPal", "maps.googleapis.com": "Google Maps",
    "api.mapbox.com": "Mapbox", "jquery": "jQuery", "bootstrap": "Bootstrap", "react-dom": "React", "react.production": "React",
    "vue.": "Vue.js", "angular": "AngularJS", "alpinejs": "Alpine.js", "htmx": "htmx", "tailwind": "Tailwind CSS",
    "/_next/": "Next.js", "/_nuxt/": "Nuxt", "wp-content": "WordPress", "wp-includes": "WordPress",
    "/sites/default/files": "Drupal", "gatsby": "Gatsby", "cookiebot": "Cookiebot", "onetrust": "OneTrust",
}  # fmt: skip
_GENERATOR = re.compile(r"([A-Za-z][\w.+ -]*?)(?:\s+v?(\d[\w.]*)(?:[\s;(,].*)?)?(?:\s*[;(].*)?")
NAMES = [
    "Python",
    "Django",
    "Flask",
    "FastAPI",
    "Ruby",
    "Rails",
    "PHP",
    "Laravel",
    "Java",
    "Kotlin",
    "Scala",
    "Go",
    "Golang",
    "Rust",
    "TypeScript",
    "JavaScript",
    "Node.js",
    "React",
    "Vue.js",
    "Angular",
    "Svelte",
    "Swift",
    ".NET",
    "C#",
    "C++",
    "Elixir",
    "Erlang",
    "Haskell",
    "PostgreSQL",
    "MySQL",
    "MariaDB",
    "SQLite",
    "MongoDB",
    "Redis",
    "Kafka",
    "RabbitMQ",
    "Elasticsearch",
    "OpenSearch",
    "ClickHouse",
    "Snowflake",
    "BigQuery",
    "Spark",
    "Airflow",
    "dbt",
    "Kubernetes",
    "Docker",
    "Terraform",
    "Ansible",
    "AWS",
    "Azure",
    "GCP",
    "Cloudflare",
    "Fastly",
    "Linux",
    "Nginx",
    "GraphQL",
    "gRPC",
    "TensorFlow",
    "PyTorch",
    "Pandas",
    "Grafana",
    "Prometheus",
    "Datadog",
    "Salesforce",
    "SAP",
    "Shopify",
    "WordPress",
    "Drupal",
    "Magento",
    "Stripe",
    "Twilio",
    "HubSpot",
    "Zendesk",
    "Jenkins",
    "GitLab",
    "GitHub",
]
_NAME = re.compile(r"(?<![\w.#+-])(" + "|".join(map(re.escape, sorted(NAMES, key=len, reverse=True))) + r")(?![\w#+-])")
_CUE = re.compile(
    r"\b(?:built (?:with|on|in)|powered by|written in|runs? on|running on|hosted (?:on|with|by)|experience (?:with|in)|"
    r"we use|stack|technologies|using|deployed (?:on|to)|skills|developed in|based on|integrates? with|know)\b",
    re.IGNORECASE,
)
_ALSO_WORDS = frozenset({"Go", "Rust", "Swift", "React", "Spark", "Rails", "Ruby", "Java", "Segment"})


def technology(source: Source) -> Iterator[Mention]:
    if source.generator and (match := _GENERATOR.fullmatch(source.generator)):
        place = source.locate(source.generator)
        detail = {"version": match[2]} if match[2] else {}
        value = match[1].strip()
        yield Mention("tech_stack", value, source.generator, place.passage, place.at, "generator tag", 0.97, detail)
    for address in source.scripts:
        for part, name in SCRIPTS.items():
            if part in address.lower():
                place = source.locate(address)
                yield Mention("tech_stack", name, address, place.passage, place.at, "script", 0.9)
    for match in _NAME.finditer(source.text):
        place = source.around(*match.span())
        cue = _CUE.search(place.passage)
        others = len({name[1] for name in _NAME.finditer(place.passage)})
        if cue is None or (match[1] in _ALSO_WORDS and others < 2):
            continue
        value = "Go" if match[1] == "Golang" else match[1]
        yield Mention("tech_stack", value, match[1], place.passage, place.at, "named", 0.75)
