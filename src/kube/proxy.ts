import { BlockList, isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { StowageError } from '../api/errors.ts';

const HINT = 'Use the URL of an http, https or socks5 proxy.';

/**
 * Returns the proxy for an API server, as in kubectl: that of its cluster, else the environment's.
 * Throws a StowageError for a URL of another kind, without its user and password.
 * @param proxyUrl `proxy-url` of the kubeconfig, which NO_PROXY does not concern
 */
export function proxyFor(
  server: string,
  proxyUrl: string | undefined,
  environment: NodeJS.ProcessEnv,
): URL | undefined {
  if (proxyUrl) {
    // client-go, clientcmd, helpers: no socks5h, as its own check (parseProxyURL).
    return usable(proxyUrl, /^(?:https?|socks5):$/, 'proxy-url of the cluster');
  }
  return fromEnvironment(new URL(server), environment);
}

/** Maximum bytes of a user or password for SOCKS5, and of the name of a server (RFC 1928, 1929). */
export const MOST_SOCKS_BYTES = 255;

/**
 * Returns user and password of a proxy; undefined without both. Throws URIError for an invalid
 * escape, which a proxy from `proxyFor` has not.
 */
export function userOf({
  username,
  password,
}: URL): { user: string; password: string } | undefined {
  return username === '' && password === ''
    ? undefined
    : { user: decodeURIComponent(username), password: decodeURIComponent(password) };
}

/** Returns the URL if a connection can be made by it. Throws a StowageError. */
function usable(text: string, protocols: RegExp, source: string): URL {
  const url = parsed(text);
  // The parser takes the first part of a path for a missing host.
  const hasHost = /^[^:]+:\/\/[^/?#\\]/.test(text.trim()) && url !== undefined && url.host !== '';
  if (url !== undefined && hasHost && protocols.test(url.protocol) && hasUsableUser(url))
    return url;
  throw new StowageError(
    'failed',
    `The ${source} is not a proxy URL${hasHost ? `: ${spellProxy(url)}` : ''}`,
    { hint: HINT },
  );
}

function hasUsableUser(url: URL): boolean {
  try {
    const { user = '', password = '' } = userOf(url) ?? {};
    const longest = Math.max(Buffer.byteLength(user), Buffer.byteLength(password));
    return !url.protocol.startsWith('socks') || longest <= MOST_SOCKS_BYTES;
  } catch {
    return false;
  }
}

/** Returns a proxy as messages show it, without user and password. */
export const spellProxy = ({ protocol, host }: URL): string => `${protocol}//${host}`;

const parsed = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined);

/**
 * Returns the proxy that Go finds in the environment (golang.org/x/net/http/httpproxy). Go ignores
 * an unusable value, and connects directly without a word: it is refused here.
 */
function fromEnvironment(server: URL, environment: NodeJS.ProcessEnv): URL | undefined {
  const name = server.protocol === 'http:' ? 'HTTP_PROXY' : 'HTTPS_PROXY';
  const value = variableOf(name, environment);
  if (value === '') return undefined;
  if (!usesProxy(server, variableOf('NO_PROXY', environment))) return undefined;
  // `proxy.example:3128` lacks `http://`, although it reads as a URL without a host.
  const text = value.includes('://') ? value : `http://${value}`;
  return usable(text, /^(?:https?|socks5h?):$/, `variable ${name}`);
}

/** Returns a variable in upper case, else in lower case, else ''. */
const variableOf = (name: string, environment: NodeJS.ProcessEnv): string =>
  environment[name] || environment[name.toLowerCase()] || '';

/** Reports whether requests to a server use the proxy. Requests to this machine never do. */
function usesProxy(server: URL, noProxy: string): boolean {
  const host = server.hostname.replace(/^\[|\]$/g, '');
  const port = server.port || (server.protocol === 'http:' ? '80' : '443');
  if (host === 'localhost' || within(host, '127.0.0.0', 8) || within(host, '::1', 128))
    return false;
  return !noProxy.split(',').some((entry) => matches(entry.trim().toLowerCase(), host, port));
}

/** Reports whether an entry of NO_PROXY, in lower case, has the host. */
function matches(entry: string, host: string, port: string): boolean {
  if (entry === '') return false;
  if (entry === '*') return true;
  const [, network = '', bits = ''] = /^([^/]+)\/(\d+)$/.exec(entry) ?? [];
  if (isIP(network) !== 0 && Number(bits) <= widthOf(network))
    return within(host, network, Number(bits));
  // Brackets need a port, as in Go (net.SplitHostPort): without one, nothing has that name.
  const [, bracketed, plain = entry, onPort = ''] =
    /^(?:\[([^[\]]*)\]|([^:[\]]*)):([^:[\]]*)$/.exec(entry) ?? [];
  const name = bracketed ?? plain;
  if (name === '' || (onPort !== '' && onPort !== port)) return false;
  if (isIP(name) !== 0) return within(host, name, widthOf(name));
  // A name never has an address, such as `.1` that of 10.0.0.1.
  if (isIP(host) !== 0) return false;
  const domain = name.replace(/^\*\./, '.');
  const suffix = domain.startsWith('.') ? domain : `.${domain}`;
  const ascii = isAscii(suffix) ? suffix : `.${domainToASCII(suffix.slice(1))}`;
  // `example.com` has its subdomains, too; `.example.com` and `*.example.com` have only these.
  return host.endsWith(ascii) || (!domain.startsWith('.') && `.${host}` === ascii);
}

const isAscii = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);

const widthOf = (address: string): number => (isIP(address) === 6 ? 128 : 32);

/**
 * Reports whether a host is an address in a network. As in Go, IPv4 and IPv6 have nothing in common
 * but the IPv6 form of an IPv4 address.
 */
function within(host: string, network: string, bits: number): boolean {
  const [address, base] = [inIpv4(host), inIpv4(network)];
  const family = isIP(base);
  const length = base === network ? bits : bits - 96;
  if (isIP(address) !== family || family === 0 || length < 0) return false;
  const list = new BlockList();
  list.addSubnet(base, length, family === 6 ? 'ipv6' : 'ipv4');
  return list.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** Returns the IPv4 address that an IPv6 address has in it (::ffff:10.0.0.1), else the address. */
function inIpv4(address: string): string {
  if (isIP(address) !== 6) return address;
  const { hostname } = new URL(`http://[${address}]`);
  const [, high = '', low = ''] = /^\[::ffff:([0-9a-f]+):([0-9a-f]+)\]$/.exec(hostname) ?? [];
  if (low === '') return address;
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [a >> 8, a & 255, b >> 8, b & 255].join('.');
}
