export type Transport = 'ssh' | 'salt' | 'local';
