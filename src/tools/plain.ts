const controls = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/
const others = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g
const escapes =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)|\x1b[ -/]*[0-~]/g
/** An escape sequence that the end of a chunk cut in two. */
const unfinished =
  /(?:\x1b[ -/]*|(?:\x1b\[|\x9b)[0-?]*[ -/]*|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*\x1b?)$/

/** No sequence is longer in earnest; a line that grows beyond this is let go as it stands. */
const held = 16_384

/** Turns what a program sends to a terminal into text: no escapes, no control characters but newline, tab and return. */
export class Unescaped {
  #cut = ""

  push(chunk: string): string {
    const text = this.#cut + chunk
    this.#cut = ""
    if (!controls.test(text)) return text
    const end = Math.max(0, text.length - held)
    const cut = unfinished.exec(text.slice(end))
    if (!cut) return strip(text)
    this.#cut = cut[0]
    return strip(text.slice(0, end + cut.index))
  }

  end(): string {
    const rest = strip(this.#cut)
    this.#cut = ""
    return rest
  }
}

const strip = (text: string): string => text.replace(escapes, "").replace(others, "")

/** Keeps of each line what a terminal would still show: what followed its last carriage return. */
export class Collapsed {
  #line = ""

  push(chunk: string): string {
    const text = this.#line + chunk
    const end = text.lastIndexOf("\n") + 1
    this.#line = latest(text.slice(end))
    const whole = text.slice(0, end)
    const lines = whole.includes("\r") ? whole.split("\n").map(shown).join("\n") : whole
    if (this.#line.length <= held) return lines
    const long = this.#line
    this.#line = ""
    return lines + shown(long)
  }

  end(): string {
    const rest = shown(this.#line)
    this.#line = ""
    return rest
  }
}

/** A line without the states that a later one replaced. A return at its very end replaces nothing yet. */
function latest(line: string): string {
  let end = line.length
  while (end > 0 && line[end - 1] === "\r") end--
  return line.slice(line.lastIndexOf("\r", end - 1) + 1)
}

const shown = (line: string): string => latest(line).replaceAll("\r", "")

/** A text that is there as a whole, from elsewhere than a terminal: every kind of line end becomes a newline. */
export function plain(text: string): string {
  const escaped = new Unescaped()
  return (escaped.push(text) + escaped.end()).replace(/\r\n?/g, "\n")
}
