/**
 * What no header says: how the preload library serves each entry, and what lies behind pointers. Annotations are
 * written by hand, as patterns over entry names; this package reads them, joins them with a description, and finds the
 * entries for which nobody has decided yet. Everything here is immutable and thread-safe.
 */
package io.tessera.autotalk.annotation;
