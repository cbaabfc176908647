"""The pages of a collector: the questions, and the results so far.

They load one style sheet and one script of the same collector, and nothing else; the content policy that is sent with
them says so to the browser. The form cannot be submitted as a browser would: without the script nothing is ever sent.
"""

from typing import Any

from sfumato.channels.additive_noise import AdditiveNoise
from sfumato.collect.basket_noise import FlipNoise
from sfumato.collect.collection_form import CollectionForm, Question, noise_digest
from sfumato.collect.live_results import LEAST_ANSWERS
from sfumato.collect.noise_in_words import describe_certainty, describe_form, describe_noise
from sfumato.page.charts import ChartAxis, histogram, interval_bars
from sfumato.page.html import Markup, join, note, paragraph, section, served_document, tag
from sfumato.page.wording import percent, plural

_SHOWN_AT_ONCE = 12
"""Up to so many answers stand below each other; of more, one is chosen from a list."""


def form_page(form: CollectionForm) -> str:
    """Give the page with the questions."""
    promise = tag(
        "aside",
        paragraph(tag("strong", "Your answers are changed at random before they are sent.")),
        paragraph(
            "It happens here, in your browser. Who asks gets the changed answers alone, and can work out how many "
            "people answer what, and not what you answered. You see what will be sent before it is."
        ),
        class_="promise",
    )
    questions = [_question(question, place) for place, question in enumerate(form.questions)]
    go = tag("button", "See what will be sent", type="submit", class_="main", disabled="")
    asked = tag("form", *questions, tag("p", go), id="questions", autocomplete="off")
    preview = tag(
        "section",
        tag("h2", "This will be sent", tabindex="-1"),
        tag("div", id="drawn"),
        note(describe_form(form.noise)),
        note(
            "This browser remembers what it drew for each answer. Whoever asks you the same again gets the same "
            "again, and learns nothing more."
        ),
        tag(
            "p",
            tag("button", "Send it", type="button", id="send", class_="main"),
            tag("button", "Change my answers", type="button", id="change"),
            class_="buttons",
        ),
        id="preview",
        hidden="",
    )
    done = tag(
        "section",
        tag("h2", "Sent. Thank you.", tabindex="-1"),
        paragraph("What was sent is kept with no address and no time but the day."),
        tag("p", tag("a", "Results so far", href="results")),
        id="done",
        hidden="",
    )
    trouble = tag("p", id="trouble", role="alert")
    without = tag(
        "noscript",
        paragraph("This page needs its script: it is what changes your answers before they are sent."),
    )
    forget = tag("button", "Forget what this browser remembers", type="button", id="forget", class_="plain")
    links = join([tag("a", "the noise", href="noise.json"), tag("a", "the script", href="collector.js")], " and ")
    footer = tag(
        "footer",
        tag("p", "See for yourself: ", links, ". ", tag("a", "Results so far", href="results"), "."),
        tag("p", forget, " Do so on a computer that others use. What is asked of you again is then drawn anew."),
    )
    body = [_heading(form.title, form.text), promise, without, asked, preview, done, trouble, footer]
    return served_document("collector.js", form.title, *body, data_noise=noise_digest(form.noise))


def results_page(form: CollectionForm, results: dict[str, Any]) -> str:
    """Give the page with the distributions that were recovered from what has been sent so far."""
    answers = int(results["answers"])
    said = f"{plural(answers, 'answer')} so far. " + (
        "What people answered was never sent; these shares are worked out from what was. A line across a bar is where "
        "the true share lies, 95 times in 100, among people like those who answered."
        if answers >= LEAST_ANSWERS
        else f"Results are shown from {LEAST_ANSWERS} answers on: from fewer, nothing can be told."
    )
    shown = []
    if answers >= LEAST_ANSWERS:
        found = {one["name"]: one for one in results["questions"]}
        shown = [_result(question, found[question.name]) for question in form.questions]
    footer = tag(
        "footer",
        tag("a", "The questions", href="./"),
        " · ",
        tag("a", "These figures as JSON", href="results.json"),
        " · ",
        tag("a", "The noise", href="noise.json"),
    )
    heading = tag("h1", form.title, tag("small", "Results so far"))
    return served_document(
        "collector.js", f"Results: {form.title}", heading, paragraph(said), *shown, footer, data_live="yes"
    )


def _heading(title: str, text: str) -> Markup:
    paragraphs = [paragraph(part) for part in text.split("\n\n") if part.strip()]
    return join([tag("h1", title), *paragraphs])


def _question(question: Question, place: int) -> Markup:
    """One question: what is asked, a control for the answer, and on demand what happens to it."""
    noise, legend = question.noise, f"q{place}"
    match noise:
        case AdditiveNoise():
            low, high = noise.domain
            limits = {"min": f"{low:.15g}", "max": f"{high:.15g}", "step": "any", "required": ""}
            known = {"aria_labelledby": legend, "aria_describedby": f"{legend}-range"}
            field = tag("input", type="number", inputmode="decimal", **limits, **known)
            control = join(
                [field, tag("span", f"from {low:,.10g} to {high:,.10g}", id=f"{legend}-range", class_="range")]
            )
        case FlipNoise():
            control = tag("div", *[_choice("checkbox", legend, item) for item in noise.items], class_="choices")
        case _ if len(noise.values) <= _SHOWN_AT_ONCE:
            control = tag("div", *[_choice("radio", legend, one) for one in noise.values], class_="choices")
        case _:
            options = [tag("option", "Choose one", value=""), *[tag("option", one, value=one) for one in noise.values]]
            control = tag("select", *options, required="", aria_labelledby=legend)
    sure = describe_certainty(noise)
    more = tag("details", tag("summary", "What happens to your answer"), note(describe_noise(noise), " ", sure))
    marks = {"data_name": question.name, "data_sure": "" if isinstance(noise, AdditiveNoise) else sure}
    return tag("fieldset", tag("legend", question.text, id=legend), control, more, **marks)


def _choice(kind: str, group: str, answer: str) -> Markup:
    needed = {"required": ""} if kind == "radio" else {}
    return tag("label", tag("input", type=kind, name=group, value=answer, **needed), tag("span", answer))


def _result(question: Question, found: dict[str, Any]) -> Markup:
    """The distribution of a question as a chart, and as figures for whoever cannot see it."""
    if "bins" in found:
        bins = found["bins"]
        edges = [bins[0]["low"], *(one["high"] for one in bins)]
        chart = histogram(edges, [_estimate(one) for one in bins], ChartAxis(question.name), title=question.text)
        lines = [(f"{one['low']:.6g} to {one['high']:.6g}", one) for one in bins]
    else:
        values = found["values"]
        chart = interval_bars([one["value"] for one in values], [_estimate(one) for one in values], title=question.text)
        lines = [(one["value"], one) for one in values]
    head = tag("tr", *[tag("th", cell, scope="col") for cell in ("", "share", "from", "to")])
    body = [
        tag("tr", tag("th", label, scope="row"), *[tag("td", percent(figure)) for figure in _estimate(one)])
        for label, one in lines
    ]
    figures = tag("table", tag("thead", head), tag("tbody", *body), class_="figures")
    return section(question.text, chart, tag("details", tag("summary", "Figures"), figures))


def _estimate(one: dict[str, Any]) -> tuple[float, float, float]:
    return one["share"], one["low95"], one["high95"]
