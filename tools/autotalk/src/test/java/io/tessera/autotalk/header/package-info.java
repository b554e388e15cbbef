/** Tests of the header reader, on headers written for them. */
package io.tessera.autotalk.header;
