/** The wait for a place among the manager's clients, before a program starts. */
package io.tessera.cli.admission;
