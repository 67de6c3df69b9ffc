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
    const url = parsed(proxyUrl);
    // client-go, clientcmd, helpers: no socks5h, as its own check (parseProxyURL).
    if (url !== undefined && /^(?:https?|socks5):$/.test(url.protocol) && url.host !== '') {
      return url;
    }
    throw unusable('proxy-url of the cluster', url);
  }
  return fromEnvironment(new URL(server), environment);
}

/** Returns a proxy as messages show it, without user and password. */
export const spellProxy = ({ protocol, host }: URL): string => `${protocol}//${host}`;

const unusable = (source: string, url: URL | undefined): StowageError =>
  new StowageError(
    'failed',
    `The ${source} is no URL of a proxy${url === undefined || url.host === '' ? '' : `: ${spellProxy(url)}`}`,
    { hint: HINT },
  );

const parsed = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined);

/** Returns the proxy that Go finds in the environment (golang.org/x/net/http/httpproxy). */
function fromEnvironment(server: URL, environment: NodeJS.ProcessEnv): URL | undefined {
  const name = server.protocol === 'http:' ? 'HTTP_PROXY' : 'HTTPS_PROXY';
  const value = variableOf(name, environment);
  if (value === '') return undefined;
  if (!usesProxy(server, variableOf('NO_PROXY', environment))) return undefined;
  // `proxy.example:3128` lacks `http://`, although it reads as a URL without a host.
  const url = parsed(value.includes('://') ? value : `http://${value}`);
  // Go ignores a value that is no URL at all.
  if (url === undefined) return undefined;
  if (!/^(?:https?|socks5h?):$/.test(url.protocol)) throw unusable(`variable ${name}`, url);
  return url;
}

/** Returns a variable in upper case, else in lower case, else ''. */
const variableOf = (name: string, environment: NodeJS.ProcessEnv): string =>
  environment[name] || environment[name.toLowerCase()] || '';

/** Reports whether requests to a server use the proxy. Requests to this machine never do. */
function usesProxy(server: URL, noProxy: string): boolean {
  const host = server.hostname.replace(/^\[|\]$/g, '');
  const port = server.port || (server.protocol === 'http:' ? '80' : '443');
  if (host === 'localhost' || LOOPBACK.check(host, familyOf(host))) return false;
  return !noProxy.split(',').some((entry) => matches(entry.trim().toLowerCase(), host, port));
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Reports whether an entry of NO_PROXY, in lower case, has the host. */
function matches(entry: string, host: string, port: string): boolean {
  if (entry === '') return false;
  if (entry === '*') return true;
  const [, network = '', bits = ''] = /^([^/]+)\/(\d+)$/.exec(entry) ?? [];
  if (isIP(network) !== 0 && Number(bits) <= (isIP(network) === 6 ? 128 : 32)) {
    return within(host, (list) => list.addSubnet(network, Number(bits), familyOf(network)));
  }
  const [, bracketed, plain, onPort = ''] =
    /^(?:\[([^\]]*)\]|([^:]*))(?::([^:]*))?$/.exec(entry) ?? [];
  const name = bracketed ?? plain ?? entry;
  if (onPort !== '' && onPort !== port) return false;
  if (isIP(name) !== 0) return within(host, (list) => list.addAddress(name, familyOf(name)));
  const domain = domainToASCII(name.replace(/^\*\./, '.').replace(/^\./, ''));
  if (domain === '') return false;
  // `example.com` has its subdomains, too; `.example.com` and `*.example.com` have only these.
  return host.endsWith(`.${domain}`) || (host === domain && !/^[.*]/.test(name));
}

/** Reports whether the host is an address in the list that `add` fills. */
function within(host: string, add: (list: BlockList) => void): boolean {
  if (isIP(host) === 0) return false;
  const list = new BlockList();
  add(list);
  return list.check(host, familyOf(host));
}
