import type { KubeNode } from '../api/core.ts';
import { ADDRESS_ANNOTATION, MINION_ANNOTATION, PORT_ANNOTATION } from '../api/names.ts';
import { type Reason, refuse } from '../api/reasons.ts';
import type { SshAddress } from '../nodes/transport/ssh-shell.ts';

/**
 * Pattern of a host name or address. Nothing else that a kubelet writes into its Node reaches ssh.
 */
const HOST = /^[A-Za-z0-9][A-Za-z0-9.:_-]{0,252}$/;

export const isHost = (text: string): boolean => HOST.test(text);

/** Pattern of a minion id that salt-key accepts, and that is neither a pattern nor a list. */
const MINION = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,252}$/;

export const isMinionId = (text: string): boolean => MINION.test(text);

/**
 * Returns the minion id in a Node's annotation. The Salt module still refuses other machines'
 * nodes.
 */
export function minionOfNode(node: KubeNode | undefined): string | undefined {
  const id = node?.metadata.annotations?.[MINION_ANNOTATION];
  return id !== undefined && isMinionId(id) ? id : undefined;
}

const isPort = (text: string): boolean =>
  /^[0-9]{1,5}$/.test(text) && Number(text) > 0 && Number(text) < 65536;

/**
 * Returns the ssh address in a Node's annotations, without invalid parts. The host key is still
 * checked under the node's name, so that no other machine can stand in for the node.
 */
export function addressOfNode(node: KubeNode | undefined): SshAddress {
  const annotations = node?.metadata.annotations ?? {};
  const { [ADDRESS_ANNOTATION]: host, [PORT_ANNOTATION]: port } = annotations;
  return {
    ...(host !== undefined && isHost(host) ? { host } : {}),
    ...(port !== undefined && isPort(port) ? { port: Number(port) } : {}),
  };
}

/** Annotation that `addressOfNode` or `minionOfNode` leaves out as invalid. */
export interface AddressProblem {
  annotation: string;
  message: string;
  detail: Reason;
}

const ANNOTATIONS = [
  [ADDRESS_ANNOTATION, isHost, 'AddressInvalid'],
  [PORT_ANNOTATION, isPort, 'PortInvalid'],
  [MINION_ANNOTATION, isMinionId, 'MinionIdInvalid'],
] as const;

export function addressProblems(node: KubeNode | undefined): AddressProblem[] {
  const annotations = node?.metadata.annotations ?? {};
  return ANNOTATIONS.flatMap(([annotation, isValid, code]) => {
    const found = annotations[annotation];
    if (found === undefined || isValid(found)) return [];
    const why = refuse(code, { annotation, found: JSON.stringify(found) });
    return [{ annotation, message: why.refusal, detail: why.reason }];
  });
}
