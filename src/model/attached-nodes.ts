import { isDnsSubdomain } from '../api/dns-name.ts';

/**
 * Returns the nodes in ATTACHED_NODES_ANNOTATION of a PersistentVolume. Also reads the names in a
 * malformed list, since each node may have the device. Leaves out invalid names.
 */
export function attachedNodes(annotation = ''): string[] {
  const found =
    listIn(annotation) ?? [...annotation.matchAll(/"([^"\\]{1,253})"/g)].map(([, name]) => name);
  return found.filter((name) => typeof name === 'string' && isDnsSubdomain(name)) as string[];
}

function listIn(annotation: string): unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(annotation);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the annotation without a node; undefined if it does not name the node. */
export function withoutAttachedNode(
  annotation: string | undefined,
  node: string,
): string | undefined {
  const nodes = attachedNodes(annotation);
  return nodes.includes(node) ? JSON.stringify(nodes.filter((each) => each !== node)) : undefined;
}
