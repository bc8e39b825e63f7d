/** The tokenizers by their names, and what one does. */

export const tokenizerNames = ['o200k_base', 'cl100k_base'] as const

export type TokenizerName = (typeof tokenizerNames)[number]

export type Tokenizer = {
  /**
   * At least the tokens of a text; exact but for text that would take long to count. `work` is
   * shared by the texts of one request.
   */
  count(text: string, work?: Work): number
}

/** The work of counting so far: squares of the bytes of pieces that were merged. */
export type Work = { squares: number }
