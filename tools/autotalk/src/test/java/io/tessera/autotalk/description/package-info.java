/** Tests of the description's text and of differences. */
package io.tessera.autotalk.description;
