/** Proves requests to a model server whose key is not sent itself. */

export type SignedRequest = { method: 'GET' | 'POST'; url: string; body: string | undefined }

export type RequestSigner = {
  /**
   * The headers that prove a request.
   * @throws UpstreamFailure `denied` where the operator's key is not taken
   */
  headersFor(request: SignedRequest): Promise<Readonly<Record<string, string>>>
  /** The server did not take these headers. */
  refused(headers: Readonly<Record<string, string>>): void
  /** Texts that are cut from the words of a server. */
  secrets(): readonly string[]
}
