/**
 * Facts that no header contains: how the preload library serves each entry, and what pointers refer to. Annotations are written by hand, as
 * patterns over entry names. This package reads them, joins them with a description, and finds the entries without a decision. Everything
 * here is immutable and thread-safe.
 */
package io.tessera.autotalk.annotation;
