/** The result of reading the configuration again; types alone. */

/**
 * The result of reading the configuration again; names only, because a value can be a secret.
 * `restart` names what changed too, but only a restart takes on.
 */
export type ReloadResult = { problems: string[] } | { changed: string[]; restart: string[] }
