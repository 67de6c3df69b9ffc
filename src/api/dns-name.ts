/** RFC 1123, as in Kubernetes' check of most object names (apimachinery, IsDNS1123Subdomain). */
const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = new RegExp(`^${LABEL}(\\.${LABEL})*$`);

export function isDnsSubdomain(name: string): boolean {
  return name.length <= 253 && SUBDOMAIN.test(name);
}

/** Text for messages that refuse a name. */
export const DNS_SUBDOMAIN =
  'lower case letters, digits, `-` and `.`, starting and ending with a letter or digit, 253 characters at most';
