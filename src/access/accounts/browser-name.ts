/** Names a browser and its system by the first mark found in the user agent. */
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

/** "Firefox on Linux"; of an unknown user agent the first 40 characters. */
export function browserName(userAgent: string): string {
  const nameOf = (known: typeof browsers) => known.find(([mark]) => mark.test(userAgent))?.[1]
  const [browser, system] = [nameOf(browsers), nameOf(systems)]
  if (browser) return system ? `${browser} on ${system}` : browser
  return userAgent.trim() === '' ? 'Unknown program' : userAgent.slice(0, 40)
}
