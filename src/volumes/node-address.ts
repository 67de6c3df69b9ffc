import type { KubeNode } from '../api/core.ts';
import { ADDRESS_ANNOTATION, MINION_ANNOTATION, PORT_ANNOTATION } from '../api/names.ts';
import type { SshAddress } from '../nodes/ssh-shell.ts';

/** A host name or an address: what else a kubelet writes into its Node does not reach ssh. */
const HOST = /^[A-Za-z0-9][A-Za-z0-9.:_-]{0,252}$/;

export const isHost = (text: string): boolean => HOST.test(text);

/** What salt-key accepts, and neither a pattern nor a list. */
const MINION = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,252}$/;

export const isMinionId = (text: string): boolean => MINION.test(text);

/** The minion that a Node says that it is. The module there works for the nodes of that machine alone, all the same. */
export function minionOfNode(node: KubeNode | undefined): string | undefined {
  const id = node?.metadata.annotations?.[MINION_ANNOTATION];
  return id !== undefined && isMinionId(id) ? id : undefined;
}

/** Where a Node says that it is reached. Its host key is checked under its name all the same. */
export function addressOfNode(node: KubeNode | undefined): SshAddress {
  const annotations = node?.metadata.annotations ?? {};
  const host = annotations[ADDRESS_ANNOTATION];
  const port = Number(annotations[PORT_ANNOTATION]);
  return {
    ...(host !== undefined && isHost(host) ? { host } : {}),
    ...(Number.isInteger(port) && port > 0 && port < 65536 ? { port } : {}),
  };
}
