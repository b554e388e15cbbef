/** Text for people: aligned tables, emphasis, durations and sizes with units. Pure and stateless. */
package io.tessera.cli.text;
