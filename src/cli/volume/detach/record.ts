/**
 * A record of attached nodes (the annotation of a PersistentVolume) without a node; undefined when it is not in it. What is
 * no list cannot be read, and is the daemon's to write anew.
 */
export function withoutNode(record: string | undefined, node: string): string | undefined {
  let nodes: unknown;
  try {
    nodes = JSON.parse(record ?? '[]');
  } catch {
    return undefined;
  }
  if (!Array.isArray(nodes) || !nodes.includes(node)) return undefined;
  return JSON.stringify(nodes.filter((each) => each !== node));
}
