/** What a browser calls itself, by what is in its user agent; the first that is found counts. */
const browsers: [mark: RegExp, name: string][] = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\//, 'Firefox'],
  [/(Chrome|CriOS)\//, 'Chrome'],
  [/\bVersion\/.*Safari\//, 'Safari'],
  [/^curl\//, 'curl'],
]

const systems: [mark: RegExp, name: string][] = [
  [/\b(iPhone|iPad)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
]

/** A user agent as people recognise it: "Firefox on Linux"; itself, cut short, when unknown. */
export function browserName(userAgent: string): string {
  const nameOf = (known: typeof browsers) => known.find(([mark]) => mark.test(userAgent))?.[1]
  const [browser, system] = [nameOf(browsers), nameOf(systems)]
  if (browser) return system ? `${browser} on ${system}` : browser
  return userAgent.trim() === '' ? 'An unnamed program' : userAgent.slice(0, 40)
}
