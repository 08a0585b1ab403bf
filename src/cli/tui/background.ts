import type { RgbColor } from "@earendil-works/pi-tui"

/** What terminals that say so at all say of their background: 7 and 15 are white. Undefined where they do not. */
export function isLightIn({ COLORFGBG }: NodeJS.ProcessEnv): boolean | undefined {
  const background = /;(\d+)$/.exec(COLORFGBG ?? "")?.[1]
  return background === undefined ? undefined : background === "7" || background === "15"
}

/** Whether dark letters are seen better on it than light ones. */
export const isLight = ({ r, g, b }: RgbColor): boolean => 0.299 * r + 0.587 * g + 0.114 * b > 128
