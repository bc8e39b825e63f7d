/**
 * Whether an attribute may hold this URL. Only a link may leave the site, and only to http, https,
 * mail or a wallet; everything that is loaded or posted to is a path of ours. Tabs, spaces and
 * backslashes are refused because browsers read them away or as slashes.
 */
export function isSafeUrl(tag: string, name: string, url: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for
  if (/[\u0000-\u0020\u007f\\]/.test(url)) return false
  if (/^(?:\/(?!\/)|[?#])/.test(url)) return true
  if (tag === 'a' && name === 'href') return /^(?:https?:\/\/|mailto:|ethereum:)[^/]/i.test(url)
  // Icons that wallets announce and small pictures of ours. An SVG in an <img> runs no script.
  return (
    tag === 'img' && name === 'src' && /^data:image\/(?:png|svg\+xml|webp|jpeg|gif)[;,]/.test(url)
  )
}
