/** Changes the operators' wallets in the text of a configuration file. */
import { isDeepStrictEqual } from 'node:util'
import { type Config, loadConfig } from './config.ts'

/**
 * The text of a configuration file with other admins and the rest unchanged; undefined if the text
 * cannot be changed safely and a person has to do it.
 */
export function withAdmins(text: string, admins: readonly string[]): string | undefined {
  const line = `admins = [${admins.map((one) => `"${one}"`).join(', ')}]`
  const firstTable = text.search(/^[ \t]*\[/m)
  const end = firstTable === -1 ? text.length : firstTable
  const head = text.slice(0, end)
  const known = /^[ \t]*admins[ \t]*=[ \t]*\[[^\]#]*\]/m
  const changed = known.test(head)
    ? head.replace(known, () => line) + text.slice(end)
    : `${line}\n${text}`
  const [before, after] = [readAlone(text), readAlone(changed)]
  return before && after && isDeepStrictEqual({ ...before, admins }, after) ? changed : undefined
}

/** Reads the admins of a file alone; undefined if the file has an error. */
function readAlone(fileText: string): Config | undefined {
  const readFile = () => ({ text: 'a secret of a file that is not read here', mode: 0o600 })
  const inputs = { flags: {}, env: {}, filePath: 'counterfoil.toml', readFile }
  const loaded = loadConfig({ ...inputs, fileText })
  return 'config' in loaded ? loaded.config : undefined
}
