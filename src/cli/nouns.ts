/** How a kind is called on the command line: kubectl's plural first, then what else it takes. */
export const VOLUME_NOUNS = ['volumes', 'volume', 'vol'] as const;
export const NODE_NOUNS = ['nodes', 'node', 'no'] as const;
export const ATTACHMENT_NOUNS = ['attachments', 'attachment', 'att'] as const;
export const POD_NOUNS = ['pods', 'pod', 'po'] as const;
