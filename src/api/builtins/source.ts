/** Location of the bytes of an Image or Archive, as in `spec.source`. */
export interface BuiltinSource {
  /** http or https. */
  url?: string;
  /** Path of a file on the node, in a directory that the node's own configuration lists. */
  path?: string;
  /** Checksum of the source, in hexadecimal. */
  sha256?: string;
  /** Value of the Authorization header, in a Secret of the object's namespace. */
  authorizationSecretRef?: { name: string; key: string };
}

/** Options in the plan for a node; flat, so that the API server detects a change. */
export type Options = Readonly<Record<string, string>>;

/** Options of an object, or why no volume is filled from it. */
export type OptionsFound = { options: Options } | { problem: string };

/** Patterns of single words in a command: printable ASCII without spaces. */
const URL = /^https?:\/\/[!"$-.0->A-~]+([/?#][!-~]*)?$/;
const PATH = /^\/[!-~]+$/;
const SHA256 = /^[0-9a-f]{64}$/;
const MAX = { url: 2048, path: 1024 };

export const COMPRESSIONS = ['none', 'gzip', 'zstd', 'xz', 'bzip2'] as const;
export type Compression = (typeof COMPRESSIONS)[number];

/**
 * Returns the options of a source. Validates all fields: the API server may
 * have had another schema. Pure.
 */
export function sourceOptions(source: BuiltinSource | undefined, given?: string): OptionsFound {
  const { url, path, sha256, authorizationSecretRef: secret } = source ?? {};
  if ((url === undefined) === (path === undefined)) {
    return { problem: 'spec.source must have exactly one of url and path' };
  }
  if (url !== undefined && (url.length > MAX.url || !URL.test(url))) {
    return {
      problem:
        'spec.source.url must be an http or https URL without a user, in printable ASCII without spaces',
    };
  }
  if (path !== undefined && (path.length > MAX.path || !PATH.test(path))) {
    return {
      problem: 'spec.source.path must be an absolute path in printable ASCII without spaces',
    };
  }
  if (sha256 !== undefined && !SHA256.test(sha256)) {
    return { problem: 'spec.source.sha256 must be 64 hexadecimal digits' };
  }
  if (secret !== undefined && url === undefined) {
    return { problem: 'spec.source.authorizationSecretRef is valid with a URL only' };
  }
  const place = url ?? path ?? '';
  const end = given === undefined ? endOf(place) : '';
  const compression = given ?? BY_ENDING.get(end);
  if (NOT_UNPACKED.has(end)) {
    const field = url === undefined ? 'path' : 'url';
    return {
      problem: `spec.source.${field} names a .${end} file, which cannot be unpacked: compress it with gzip, zstd, xz or bzip2, or set spec.compression if it is not one`,
    };
  }
  return {
    options: {
      source: place,
      // If absent, the node detects it. A daemon of the previous version takes absence for none,
      // and refuses any value.
      ...(compression === undefined ? {} : { compression }),
      ...(sha256 === undefined ? {} : { sha256 }),
      ...(secret === undefined
        ? {}
        : { authorizationSecret: secret.name, authorizationKey: secret.key }),
    },
  };
}

const BY_ENDING: ReadonlyMap<string, Compression> = new Map([
  ['gz', 'gzip'],
  ['tgz', 'gzip'],
  ['zst', 'zstd'],
  ['tzst', 'zstd'],
  ['xz', 'xz'],
  ['txz', 'xz'],
  ['bz2', 'bzip2'],
  ['tbz', 'bzip2'],
  ['tbz2', 'bzip2'],
]);

/** Extensions of files that would be written without unpacking. lzma has no magic number. */
const NOT_UNPACKED: ReadonlySet<string> = new Set([
  'zip',
  '7z',
  'rar',
  'lz4',
  'lz',
  'lzo',
  'lzma',
  'Z',
]);

/** Returns the extension of a path or URL, without the URL's query. */
function endOf(place: string): string {
  const [name = ''] = place.startsWith('/') ? [place] : place.split(/[?#]/);
  return /\.([^./]+)$/.exec(name)?.[1] ?? '';
}
