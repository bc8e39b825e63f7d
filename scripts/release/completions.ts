/** Completions for bash, zsh and fish: commands and options by where the line is; else files. */
import { type HelpNode, walk } from './help-tree.ts'

type Choice = { word: string; meaning: string }

/** What may follow a command. Settings come only after `--`, because there are about a hundred. */
const choicesOf = (node: HelpNode, settings: boolean): Choice[] => [
  ...(settings
    ? []
    : node.children.map(({ path, meaning }) => ({ word: path.at(-1) ?? '', meaning }))),
  ...node.options
    .filter(({ isSetting }) => isSetting === settings)
    .map(({ names, meaning }) => ({ word: names.at(-1) ?? '', meaning })),
  ...(settings ? [] : [{ word: '--help', meaning: 'display help' }]),
]

const placeOf = ({ path }: HelpNode): string => path.map((name) => `/${name}`).join('')
const wordsOf = (choices: Choice[]): string => choices.map(({ word }) => word).join(' ')
const below = (tree: HelpNode): HelpNode[] => walk(tree).slice(1)
const hasSettings = (node: HelpNode): boolean => node.options.some(({ isSetting }) => isSetting)
const settingsOf = (tree: HelpNode): Choice[] => {
  const node = walk(tree).find(hasSettings)
  return node ? choicesOf(node, true) : []
}

export function bashCompletion(tree: HelpNode): string {
  const known = below(tree).map(placeOf).join('|')
  const cases = walk(tree).map((node) => {
    const words = `words='${wordsOf(choicesOf(node, false))}'`
    return `    '${placeOf(node)}') ${words}${hasSettings(node) ? '; takes=1' : ''} ;;`
  })
  return `# bash completion of counterfoil
_counterfoil() {
  local cur=\${COMP_WORDS[COMP_CWORD]} place='' word words='' takes=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$place/$word" in
      ${known}) place=$place/$word ;;
    esac
  done
  case $place in
${cases.join('\n')}
  esac
  if [[ $takes && $cur == --?* ]]; then
    words+=' ${wordsOf(settingsOf(tree))}'
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -o default -F _counterfoil counterfoil cf
`
}

export function zshCompletion(tree: HelpNode): string {
  const quote = ({ word, meaning }: Choice) =>
    `'${word}:${meaning.replaceAll("'", "'\\''").replaceAll(':', '\\:')}'`
  const cases = walk(tree).map((node) => {
    const found = `found=(${choicesOf(node, false).map(quote).join(' ')})`
    return `    ${quoted(placeOf(node))}) ${found}${hasSettings(node) ? '; takes=1' : ''} ;;`
  })
  return `#compdef counterfoil cf
_counterfoil() {
  local place='' word takes=''
  local -a found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$place/$word" in
      ${below(tree).map(placeOf).join('|')}) place=$place/$word ;;
    esac
  done
  case $place in
${cases.join('\n')}
  esac
  if [[ -n $takes && $PREFIX == --?* ]]; then
    found+=(${settingsOf(tree).map(quote).join(' ')})
  fi
  _describe -o counterfoil found || _files
}
_counterfoil "$@"
`
}

export function fishCompletion(tree: HelpNode): string {
  const offer = (condition: string, { word, meaning }: Choice) => {
    const name = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`
    return `complete -c counterfoil -n '${condition}' ${name} -d ${quoted(meaning)}`
  }
  const lines = walk(tree).flatMap((node) =>
    choicesOf(node, false).map((one) => offer(`__counterfoil_at "${placeOf(node)}"`, one)),
  )
  const taking = walk(tree).filter(hasSettings).map(placeOf)
  return `# fish completion of counterfoil
function __counterfoil_at
    set -l place ''
    for word in (commandline -opc)[2..]
        switch $place/$word
            case ${below(tree).map(placeOf).join(' ')}
                set place $place/$word
        end
    end
    contains -- "$place" $argv
end
function __counterfoil_takes_settings
    __counterfoil_at ${taking.join(' ')}
end
${lines.join('\n')}
${settingsOf(tree)
  .map((one) => offer('__counterfoil_takes_settings', one))
  .join('\n')}
complete -c cf -w counterfoil
`
}

/** A text in single quotes: fish and zsh end a quote before another one. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
