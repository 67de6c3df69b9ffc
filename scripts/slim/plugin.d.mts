import type { Plugin } from 'esbuild';

export declare const slimPackages: Plugin;
