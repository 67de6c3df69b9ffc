import type { Cause } from '../kind.ts';
import { badRequest, forbidden, invalid, invalidValue, notSupported } from '../refusal.ts';

/** Options of a list or watch about versions and pages (meta/v1 ListOptions). */
export interface ListOptions {
  watch: boolean;
  limit: number;
  continue: string;
  resourceVersion: string;
  resourceVersionMatch: '' | 'Exact' | 'NotOlderThan';
  /** Starts a watch with all objects, followed by a bookmark. */
  sendInitialEvents: boolean | undefined;
  timeoutSeconds: number;
}

const KIND = { group: 'meta.k8s.io', kind: 'ListOptions' };
const MATCHES = ['Exact', 'NotOlderThan', ''];

/**
 * Parses the options. Throws a 400 for an invalid number, and a 422 for
 * options that exclude each other.
 */
export function listOptions(query: URLSearchParams): ListOptions {
  const options = {
    watch: truth(query.get('watch')) ?? false,
    limit: integer(query.get('limit')),
    continue: query.get('continue') ?? '',
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: (query.get('resourceVersionMatch') ??
      '') as ListOptions['resourceVersionMatch'],
    sendInitialEvents: truth(query.get('sendInitialEvents')),
    timeoutSeconds: integer(query.get('timeoutSeconds')),
  };
  const causes = options.watch ? watchCauses(options) : listCauses(options);
  if (causes.length > 0) throw invalid(KIND, '', causes);
  return options;
}

/** Parses a boolean in a query as Kubernetes does: every value is true except these two. */
const truth = (text: string | null) =>
  text === null ? undefined : !['false', '0'].includes(text.toLowerCase());

function integer(text: string | null): number {
  if (text === null || text === '') return 0;
  if (!/^[+-]?\d+$/.test(text))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

const noMatch = (why: string) =>
  forbidden('resourceVersionMatch', `resourceVersionMatch is forbidden ${why}`);

function listCauses(options: ListOptions): Cause[] {
  const { resourceVersionMatch: match, resourceVersion } = options;
  const causes: Cause[] = [];
  if (match !== '') {
    if (resourceVersion === '') causes.push(noMatch('unless resourceVersion is provided'));
    if (options.continue !== '') causes.push(noMatch('when continue is provided'));
    if (!MATCHES.includes(match)) causes.push(notSupported('resourceVersionMatch', match, MATCHES));
    if (match === 'Exact' && resourceVersion === '0')
      causes.push(
        forbidden(
          'resourceVersionMatch',
          'resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
        ),
      );
  }
  if (options.sendInitialEvents !== undefined)
    causes.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  return causes;
}

function watchCauses({
  resourceVersionMatch: match,
  sendInitialEvents,
  ...options
}: ListOptions): Cause[] {
  const causes: Cause[] = [];
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan')
    causes.push(
      forbidden(
        'resourceVersionMatch',
        'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
      ),
    );
  if (match === '') return causes;
  if (sendInitialEvents === undefined)
    causes.push(noMatch('for watch unless sendInitialEvents is provided'));
  if (match !== 'NotOlderThan')
    causes.push(notSupported('resourceVersionMatch', match, ['NotOlderThan']));
  if (options.continue !== '') causes.push(noMatch('when continue is provided'));
  return causes;
}

/** Parses a resourceVersion from a client; 0 means none, or any. Throws a 400. */
export function versionNumber(text: string): number {
  if (text === '') return 0;
  if (/^\d+$/.test(text)) return Number(text);
  const { text: why } = invalidValue(
    'resourceVersion',
    JSON.stringify(text),
    `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
  );
  throw badRequest(`invalid resource version: resourceVersion: ${why}`);
}
