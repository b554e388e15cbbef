/** Tests of the command line and of the description that is committed. */
package io.tessera.autotalk;
