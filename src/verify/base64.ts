/** Standard base64 (RFC 4648 §4), read strictly: one text for each byte string. */

export const toBase64 = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))

/** The bytes of canonical base64 with padding; undefined for any other text. */
export function fromBase64(text: string): Uint8Array | undefined {
  // The last character may hold bits beyond the bytes, which decoders drop: a second text for them.
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text))
    return undefined
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
  return toBase64(bytes) === text ? bytes : undefined
}
