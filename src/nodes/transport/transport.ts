/** How nodes are reached. */
export type Transport = 'ssh' | 'salt' | 'local';
