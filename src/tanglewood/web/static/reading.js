// Files that a visitor chooses, as text.

/** The text of a file, which may be compressed; an error says what is wrong with it, to be read after its name. */
export async function textOf(file) {
  const bytes = await bytesOf(file.stream(), "cannot be read");
  if (!bytes.length) throw new Error("is empty");
  const packed = bytes[0] === 0x1f && bytes[1] === 0x8b;
  if (!packed && file.name.endsWith(".gz")) throw new Error("is not compressed with gzip, though its name says so");
  const plain = packed
    ? await bytesOf(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")), "is damaged: gzip cannot unpack it")
    : bytes;
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(plain);
  } catch {
    throw new Error("is not text in UTF-8; it should be CoNLL-U or CoNLL-X, plain or compressed with gzip");
  }
  if (text.includes("\0")) throw new Error("is no text; it should be CoNLL-U or CoNLL-X, plain or compressed with gzip");
  if (!text.trim()) throw new Error("has nothing in it but blank space");
  return text;
}

async function bytesOf(stream, problem) {
  try {
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {
    throw new Error(problem);
  }
}
