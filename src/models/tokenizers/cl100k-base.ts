/** The tokenizer `cl100k_base`: the words it knows are a file inside the executable. */
import words from 'gpt-tokenizer/data/cl100k_base.tiktoken' with { type: 'file' }
import { CL100K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants'
import { makeTokenizer } from './byte-pairs.ts'
import { readVocabulary } from './vocabulary.ts'

export const load = async () =>
  makeTokenizer(readVocabulary(await Bun.file(words).bytes()), CL100K_TOKEN_SPLIT_REGEX)
