/** RFC 1123, as Kubernetes checks the names of most objects (apimachinery, IsDNS1123Subdomain). */
const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = new RegExp(`^${LABEL}(\\.${LABEL})*$`);

export function isDnsSubdomain(name: string): boolean {
  return name.length <= 253 && SUBDOMAIN.test(name);
}

/** For messages that refuse a name. */
export const DNS_SUBDOMAIN =
  'lower case letters, digits, `-` and `.`, starting and ending with a letter or digit, 253 characters at most';
