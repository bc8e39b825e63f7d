/** Converts OKLCH, as the stylesheet names colours, to sRGB for what reads nothing newer. */

/**
 * `#rrggbb` of a colour: lightness and chroma as fractions, hue in degrees. What sRGB cannot show
 * is clipped channel by channel.
 */
export function oklchHex(lightness: number, chroma: number, hue: number): string {
  const angle = (hue * Math.PI) / 180
  const [a, b] = [chroma * Math.cos(angle), chroma * Math.sin(angle)]
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3
  const channels = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ]
  return `#${channels.map(hexOf).join('')}`
}

/** A linear channel, 0 to 1, as two digits of hex with the gamma of sRGB. */
function hexOf(linear: number): string {
  const light = Math.min(1, Math.max(0, linear))
  const curved = light <= 0.0031308 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055
  return Math.round(curved * 255)
    .toString(16)
    .padStart(2, '0')
}
