import { isDnsSubdomain } from '../api/dns-name.ts';

/**
 * Returns the names of nodes in the record of a PersistentVolume (ATTACHED_NODES_ANNOTATION): of its JSON list, or of what is
 * left of one, for a device may be on each of them. Leaves out what is no name of a node.
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

/** Returns the record without a node, as it is to be written; undefined where it does not name that. */
export function withoutAttachedNode(
  annotation: string | undefined,
  node: string,
): string | undefined {
  const nodes = attachedNodes(annotation);
  return nodes.includes(node) ? JSON.stringify(nodes.filter((each) => each !== node)) : undefined;
}
