/**
 * Autotalk: from a vendor's header to our own description of its entry points, and from that to the code that stands in
 * front of them.
 *
 * <p>{@code describe} reads a header once, on a developer's machine, and writes {@code native-preload/api/*.api}. The
 * build needs only that file and the annotations: {@code generate} makes trampolines, prototypes, gated wrappers and
 * tables from them. Single-threaded; every failure is an {@link io.tessera.autotalk.AutotalkException} that names file
 * and line.
 */
package io.tessera.autotalk;
