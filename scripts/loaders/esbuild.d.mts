import type { Plugin } from 'esbuild';

export declare const loaders: Plugin;
