/**
 * The description of a driver: its exported entries, their parameters and types, as facts in a line-based text that is
 * committed and diffed. The text's grammar is in the module's README; {@link io.tessera.autotalk.description.DescriptionText}
 * reads and writes it. Everything here is immutable and thread-safe.
 */
package io.tessera.autotalk.description;
