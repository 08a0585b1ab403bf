import type { IUnicodeVersionProvider } from "@xterm/headless"

const none = /^[\p{Mn}\p{Me}\p{Cf}]$/u
const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}\p{Emoji_Presentation}]$/u

const columns = (letter: string): 0 | 1 | 2 => (none.test(letter) ? 0 : wide.test(letter) ? 2 : 1)

/** How many columns letters take on the terminals of today; the emulator by itself takes emoji for narrow. */
export const widths: IUnicodeVersionProvider = {
  version: "today",
  wcwidth: (codepoint) => columns(String.fromCodePoint(codepoint)),
  // The emulator's own packing: the width from the second bit on, and in the first whether it joins the letter before.
  charProperties(codepoint, preceding) {
    const width = columns(String.fromCodePoint(codepoint))
    const before = (preceding >> 1) & 3
    return width === 0 && before > 0 ? (before << 1) | 1 : width << 1
  },
}
