/**
 * Reads C headers: a preprocessor, a parser for declarations, and the sizes of declared types on x86-64 Linux. The only result is a {@link
 * io.tessera.autotalk.description.Description}.
 *
 * <p>The preprocessor supports what driver headers use: conditionals, object-like and function-like macros, pasting and
 * {@code #undef}. It follows no {@code #include}: every header is named on the command line.
 */
package io.tessera.autotalk.header;
