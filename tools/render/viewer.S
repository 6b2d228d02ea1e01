/* SPDX-License-Identifier: Apache-2.0 */
/* The page without its data, as tools/render/viewer/assemble has put it together. */
	.section .rodata
	.globl viewer_page
	.globl viewer_page_end
viewer_page:
	.incbin "viewer.page.html"
viewer_page_end:
	.byte 0
	.section .note.GNU-stack,"",%progbits
