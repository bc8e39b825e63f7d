/** The manual page: counterfoil(1) of the CLI's own help. */
import { helpSettings } from '../../src/config/help.ts'
import { type HelpNode, walk } from './help-tree.ts'

/** @param date of the commit, as `2026-11-23` */
export function manPage(tree: HelpNode, { version, date }: { version: string; date: string }) {
  const [title = '', ...settings] = helpSettings().split('\n')
  return `${[
    `.TH COUNTERFOIL 1 "${date}" "counterfoil ${version}" "User Commands"`,
    '.SH NAME',
    `counterfoil \\- ${line(tree.meaning.replace(/\.$/, '').replace(/^A /, ''))}`,
    '.SH SYNOPSIS',
    '.B counterfoil',
    '.RI [ command ]\n.RI [ options ]',
    '.SH DESCRIPTION',
    'Without a command the server starts.',
    'The manual is in the folder docs of the project.',
    '.SH COMMANDS',
    ...walk(tree).slice(1).flatMap(sectionOf),
    '.SH SETTINGS',
    `${line(title.replace(/:$/, '.'))}`,
    ...settings.flatMap((text) => {
      const [flag = '', ...words] = text.trim().split(/\s{2,}/)
      return item(flag, words.join(' '))
    }),
    '.SH EXIT STATUS',
    ...item('0', 'It is done.'),
    ...item('1', 'It failed; stderr says why.'),
    ...item('2', 'The command line is wrong.'),
    ...item('3', 'The server is not ready (healthcheck).'),
    ...item('78', 'The configuration is wrong; each fault is named.'),
    '.SH FILES',
    ...item('/etc/counterfoil/counterfoil.toml', 'The configuration of the service.'),
    ...item(
      '/etc/counterfoil/counterfoil.env',
      'Variables that it names, such as keys; mode 0600.',
    ),
    ...item('/var/lib/counterfoil', 'The database and the key that signs receipts.'),
    '.SH SEE ALSO',
    '.BR cf (8)',
  ].join('\n')}\n`
}

function sectionOf({ path, usage, meaning, options }: HelpNode): string[] {
  const shown = options.filter(({ isSetting }) => !isSetting)
  const hasSettings = shown.length < options.length
  return [
    `.SS ${line(`counterfoil ${path.join(' ')} ${usage}`.trim())}`,
    line(`${meaning}.`),
    ...(hasSettings ? ['It takes all settings as options.'] : []),
    ...shown.flatMap(({ flags, meaning: words }) => item(flags, words)),
  ]
}

const item = (term: string, words: string): string[] => [`.TP\n.B ${line(term)}`, line(words)]

/** A line of text: nothing in it is a request of roff, and a hyphen stays one. */
const line = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/, '\\&$1')
