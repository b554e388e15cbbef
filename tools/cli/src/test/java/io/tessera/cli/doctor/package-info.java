/** Tests. */
package io.tessera.cli.doctor;
