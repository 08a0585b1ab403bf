/** Words that models take for marks of who speaks. */
const speakers =
  /<(?=\/?(?:(?:system|human|assistant|developer)(?:[-_:][-\w:]*)?|(?:tool_|function_|antml:)[-\w:]*)\s*>)/gi

/** A text from elsewhere, with nothing in it that steers a terminal or looks as if somebody else began to speak. */
export const asData = (text: string): string =>
  text
    .replace(/\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g, "")
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "")
    .replace(speakers, "‹")
