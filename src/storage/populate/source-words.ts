/**
 * Source or target of a command, in two parts: arguments are visible to all processes on the node,
 * and are printed if the command fails.
 */
export interface SourceWords {
  /** A path, or a URL without its query. */
  argument: string;
  /** Rest of the URL, from the question mark; it often holds a signature. */
  query: string;
}

/**
 * Splits a URL into a public and a secret part. The fragment is dropped: it is never sent to a
 * server.
 */
export function sourceWords(source: string): SourceWords {
  if (!/^https?:/.test(source)) return { argument: source, query: '' };
  const [url = ''] = source.split('#', 1);
  const at = url.indexOf('?');
  return at < 0
    ? { argument: url, query: '' }
    : { argument: url.slice(0, at), query: url.slice(at) };
}

/** Names a source for users, without the query of a URL. */
export function shownSource(source: string): string {
  const { argument, query } = sourceWords(source);
  return query === '' ? argument : `${argument}?...`;
}

/** Standard input of a script that fetches or sends: no other process on the node sees it. */
export interface SourceInput {
  /** Namespace of the claim or Backup; undefined for volumes that an administrator made. */
  namespace?: string | undefined;
  authorization?: string | undefined;
  source: string;
}

/** Formats the standard input. */
export const sourceInput = ({ namespace = '', authorization = '', source }: SourceInput): string =>
  `${namespace}\n${authorization}\n${sourceWords(source).query}\n`;
