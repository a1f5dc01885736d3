// Sentences whose arcs cross, with their trees: form/tag/head/label of each word.

const SENTENCES = [
  ["figure1", "A hearing is scheduled", "Nivre 2009, Figure 1",
    "A/DET/2/DET hearing/NOUN/3/SBJ is/AUX/0/ROOT scheduled/VERB/3/VG on/ADP/2/NMOD the/DET/7/DET issue/NOUN/5/PC today/ADV/4/ADV ./PUNCT/3/P"],
  ["question", "What did you say", "a long question",
    "What/PRON/7/obj did/AUX/4/aux you/PRON/4/nsubj say/VERB/0/root the/DET/6/det fox/NOUN/7/nsubj ate/VERB/4/ccomp ?/PUNCT/4/punct"],
  ["extraposed", "A letter arrived", "a relative clause far from its noun",
    "A/DET/2/det letter/NOUN/3/nsubj arrived/VERB/0/root yesterday/ADV/3/advmod that/PRON/8/obj nobody/PRON/8/nsubj had/AUX/8/aux expected/VERB/2/acl:relcl ./PUNCT/3/punct"],
  ["german", "Den Brief hat sie", "German: a fronted object",
    "Den/DET/2/det Brief/NOUN/6/obj hat/AUX/7/aux sie/PRON/7/nsubj zu/PART/6/mark schreiben/VERB/7/xcomp vergessen/VERB/0/root ./PUNCT/7/punct"],
  ["dutch", "dat Anna Bas de boot", "Dutch: crossing verbs and objects",
    "dat/SCONJ/6/mark Anna/PROPN/6/nsubj Bas/PROPN/7/nsubj de/DET/5/det boot/NOUN/8/obj zag/VERB/0/root helpen/VERB/6/xcomp verven/VERB/7/xcomp"],
  ["latin", "Magnam puella videt", "Latin: an adjective apart from its noun",
    "Magnam/ADJ/4/amod puella/NOUN/3/nsubj videt/VERB/0/root navem/NOUN/3/obj ./PUNCT/3/punct"],
  ["plain", "The owl slept", "nothing crosses",
    "The/DET/2/det owl/NOUN/3/nsubj slept/VERB/0/root all/DET/5/det day/NOUN/3/obl ./PUNCT/3/punct"],
];

const LANGUAGES = { german: "de", dutch: "nl", latin: "la" };

function conllu(id, text) {
  const words = text.split(" ").map((word) => word.split("/"));
  const rows = words.map(([form, tag, head, label], i) =>
    [i + 1, form, "_", tag, "_", "_", head, label, "_", "_"].join("\t"));
  return [`# sent_id = ${id}`, `# text = ${words.map((word) => word[0]).join(" ")}`, ...rows, "", ""].join("\n");
}

export const EXAMPLES = SENTENCES.map(([id, title, about, text]) => {
  return { id, title, about, lang: LANGUAGES[id] || "en", conllu: conllu(id, text) };
});
