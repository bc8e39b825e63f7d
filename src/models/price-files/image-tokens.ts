/** The most tokens of one image, by what its provider publishes. */

/**
 * Rules by the name of a model, first match first, each the largest image that its rule allows.
 * Anthropic: width × height / 750 up to about 1,600; since Opus 4.7 up to 4,784 patches.
 * OpenAI: a base and eight tiles of 512 pixels, or patches of 32 pixels (1,536, since GPT-5.4 up to
 * 10,000) times at most 2.46. Google: 258 a tile, at most 2,240 (`ultra_high`) or ten tiles.
 */
const rules: readonly (readonly [name: RegExp, tokens: number])[] = [
  [/^claude-(3|instant|2)/, 1_600],
  [/^claude-/, 4_784],
  [/^gpt-4o-mini/, 2_833 + 8 * 5_667],
  [/^(gpt-4\.1-(mini|nano)|o4-mini|gpt-5(\.[0-3])?(?![.\d]))/, 3_779],
  [/^(chatgpt-4o|gpt-4o|gpt-4\.1|gpt-4\.5|gpt-4-turbo|gpt-4-vision|gpt-4-1106)/, 1_445],
  [/^(o1|o3|computer-use)/, 1_445],
  [/^(gpt-|o\d)/, 24_600],
  [/^gemini-/, 10 * 258],
]

/**
 * The most tokens of an image of this model; undefined where its provider publishes no rule. What
 * stands before the name is left away: the provider, a region, a cloud's own name of the vendor.
 */
export function imageTokensOf(id: string): number | undefined {
  const [last = ''] = id.toLowerCase().split('/').slice(-1)
  const name = last.replace(/^([a-z-]+[.:])*(?=claude-|gpt-|gemini-|o\d)/, '')
  return rules.find(([pattern]) => pattern.test(name))?.[1]
}
